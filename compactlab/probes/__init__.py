"""What an agent is asked to still know: facts mined from its transcript (`mined`), questions made by hand (`hand`)."""
