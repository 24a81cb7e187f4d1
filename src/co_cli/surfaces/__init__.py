"""The ways in which people and programs reach the knowledge."""
