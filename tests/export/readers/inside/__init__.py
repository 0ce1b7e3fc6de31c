"""What runs in the environments of the trainers' libraries."""
