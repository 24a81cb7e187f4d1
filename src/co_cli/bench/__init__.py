"""Measuring the promises, on this machine and from outside: real processes, real files."""
