"""What `onechange ui` serves: an index of studies, their pages while they run, and the playground."""
