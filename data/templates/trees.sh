#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C; it goes on from its last checkpoint.
set -euo pipefail
{{#several_nodes}}
# The same on each of the {{nodes|word}} machines, with its own NODE_RANK from 0.
: "${MASTER_ADDR:?the address of the first machine}"
: "${NODE_RANK:?0 on the first machine, 1 on the second ...}"
{{/several_nodes}}
exec python3 train.py --data "${DATA:-data}" --checkpoint-minutes {{checkpoint_minutes|word}} "$@"
