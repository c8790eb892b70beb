"""The same commands in processes that differ in everything that must not matter."""
