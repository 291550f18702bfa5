"""The engine of the commands that judge a user's texts: it runs the jobs of a plan on this machine."""
