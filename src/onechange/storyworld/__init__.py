"""A small world of children's stories, told by counted choices, so that the probability of each story is known."""
