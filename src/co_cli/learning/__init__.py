"""What grows must stay true and small: proposals, and the rules and models that make them."""
