#!/bin/bash
{{>head}}
# What the machine does when it starts; launch-azure.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root{{#gated}} HF_TOKEN=@HF_TOKEN@{{/gated}}
mkdir -p /job/checkpoints && cd /job || exit 1
command -v az >/dev/null || curl -sL https://aka.ms/InstallAzureCLIDeb | bash
{{^serving}}
# It ends after {{run_hours|word}} hours, whatever happens.
(sleep {{run_seconds|word}} && az vm deallocate --resource-group {{job|name}} --name "$(hostname)") &
{{/serving}}
until az login --identity; do sleep 10; done
blobs() { az storage blob "$@" --account-name "@STORAGE_ACCOUNT@" --auth-mode login; }
{{#several_nodes}}
# The machines are numbered by their names.
name=$(hostname)
export NODE_RANK=$((${name##*-} - 1)) MASTER_ADDR=${name%-*}-1
{{/several_nodes}}
# The right to read may take a moment to be known.
until blobs download-batch -s job -d .; do sleep 10; done
{{>environment}}
{{#training}}
# Checkpoints go to the container every {{checkpoint_minutes|word}} minutes; a machine that starts again has them from there already.
(while sleep {{checkpoint_minutes|word}}m; do blobs upload-batch -d job -s checkpoints --destination-path checkpoints --overwrite; done) &
{{/training}}
bash run.sh >log.txt 2>&1
blobs upload -c job -f log.txt -n log.txt --overwrite
{{#training}}
blobs upload-batch -d job -s checkpoints --destination-path checkpoints --overwrite
{{/training}}
{{^serving}}
# A machine that is only shut down is still paid for: this gives it back.
az vm deallocate --resource-group {{job|name}} --name "$(hostname)"
shutdown -h now
{{/serving}}
