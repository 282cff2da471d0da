import sys

# Files are edited and tested again within a second: never trust old bytecode.
sys.dont_write_bytecode = True
