"""The file of a store that says whose it is: every store on which anybody builds has it."""

OWNER = "owner.json"
