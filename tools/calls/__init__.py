"""Generated calls of the command line, each in a process and a folder of its own, judged by how they end."""
