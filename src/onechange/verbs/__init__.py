"""What each verb of the command line does: read its words, call the library, show the outcome."""
