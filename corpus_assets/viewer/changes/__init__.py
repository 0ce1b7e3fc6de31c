"""Pages on what differs: from an earlier build, and from the present plan with another configuration."""
