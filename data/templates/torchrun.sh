#!/usr/bin/env bash
{{>head}}
# Stop it: press Ctrl+C; it goes on from its last checkpoint.
set -euo pipefail
{{#several_nodes}}
# The same on each of the {{nodes|word}} machines, with its own NODE_RANK from 0.
: "${MASTER_ADDR:?the address of the first machine}"
: "${NODE_RANK:?0 on the first machine, 1 on the second ...}"
{{/several_nodes}}
exec torchrun {{#several_nodes}}--nnodes={{nodes|word}} --node-rank="$NODE_RANK" --master-addr="$MASTER_ADDR" --master-port=29500{{/several_nodes}}{{^several_nodes}}--standalone{{/several_nodes}} \
  --nproc-per-node={{per_node|word}} train.py --data "${DATA:-data}" \
  --batch {{micro_batch|word}} --accumulation {{accumulation|word}} --epochs {{epochs|word}} --workers {{workers|word}} \
  --checkpoint-minutes {{checkpoint_minutes|word}} "$@"
