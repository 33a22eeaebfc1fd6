#!/bin/bash
{{>head}}
# What the machine does when it starts; launch-azure.sh sends it.
# Stop it: shutdown -h now, on the machine
export HOME=/root{{#gated}} HF_TOKEN=@HF_TOKEN@{{/gated}}
mkdir -p /job/checkpoints && cd /job || exit 1
command -v az >/dev/null || curl -sL https://aka.ms/InstallAzureCLIDeb | bash
{{^serving}}
# It ends after {{run_hours|word}} hours, whatever happens.
(sleep {{run_seconds|word}} && az vm deallocate --resource-group @JOB@ --name "$(hostname)") &
{{/serving}}
until az login --identity; do sleep 10; done
blobs() { az storage blob "$@" --account-name "@STORAGE_ACCOUNT@" --auth-mode login; }
{{#linked}}
# The machines are numbered by their names.
name=$(hostname)
export NODE_RANK=$((${name##*-} - 1)) MASTER_ADDR=${name%-*}-1
{{/linked}}
# In the container all has the names that it has here.
until blobs download-batch -s @JOB@ -d / --pattern "job/*"; do sleep 10; done
{{>environment}}
{{#training}}
blobs download-batch -s @JOB@ -d . --pattern "checkpoints/*"
keep() {
  blobs upload-batch -d @JOB@ -s kept --destination-path checkpoints --overwrite &&
    blobs upload -c @JOB@ -f log.txt -n log.txt --overwrite
}
{{/training}}
{{>run-here}}
blobs upload -c @JOB@ -f log.txt -n "log-$(hostname).txt" --overwrite
# A machine that is only shut down is still paid for: this gives it back.
az vm deallocate --resource-group @JOB@ --name "$(hostname)"
shutdown -h now
