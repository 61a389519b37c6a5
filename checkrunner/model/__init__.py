"""The words of checkrunner: frozen data, the error tree, and the seams. Imports nothing else of ours."""
