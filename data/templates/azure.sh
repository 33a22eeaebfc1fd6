#!/usr/bin/env bash
# {{title|comment}}
# Quartermaster, {{date|comment}}: {{label|comment}}
# Costs about {{cost_per_hour|comment}} {{currency|comment}} an hour while it runs.
# Stop it: az group delete --name {{job|name}}
set -euo pipefail

# Yours to fill in.
: "${STORAGE_ACCOUNT:?a storage account with a container \"job\" for weights and checkpoints}"
EMAIL=${EMAIL:-}

az group create --name {{job|name}} --location {{region|word}}

# An alarm before the money is gone.
if [ -n "$EMAIL" ]; then
  az consumption budget create --budget-name {{job|name}} --resource-group {{job|name}} --amount {{budget|word}} \
    --category cost --time-grain monthly --start-date "$(date +%Y-%m-01)" --end-date "$(date -d '+1 year' +%Y-%m-01)"
fi

startup=$(mktemp)
sed "s|@STORAGE_ACCOUNT@|$STORAGE_ACCOUNT|g" startup.sh >"$startup"

for number in $(seq 1 {{nodes|word}}); do
  az vm create --resource-group {{job|name}} --name {{job|name}}-"$number" --size {{instance|word}} --image {{azure_image|word}} \
    --assign-identity --os-disk-size-gb 200 --generate-ssh-keys --custom-data "$startup"{{#spot}} \
    --priority Spot --eviction-policy Delete --max-price -1{{/spot}}
  # A machine that is shut down from inside is still paid for: this gives it back every evening.
  az vm auto-shutdown --resource-group {{job|name}} --name {{job|name}}-"$number" --time "$(date -u -d '+{{run_hours|word}} hours' +%H%M)"
done
