"""The command line: parse, call the knowledge façade, render."""
