"""The file that names the owner of a store; every store that was built on has it."""

OWNER = "owner.json"
