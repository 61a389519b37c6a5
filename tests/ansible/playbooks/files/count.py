#!/usr/bin/env python3
import sys

print(sum(int(word) for word in sys.argv[1:]))
