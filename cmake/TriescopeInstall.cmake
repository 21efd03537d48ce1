# Filled in below: install and export.
