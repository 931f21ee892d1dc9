"""The folders of images that programs of others read and write: a table of layouts, and what writes and reads by it."""
