#!/usr/bin/env bash
{{>head}}
# Stop it: az group delete --name {{job|name}}
set -euo pipefail

# Yours to fill in.
: "${STORAGE_ACCOUNT:?a storage account with a container \"job\" for weights and checkpoints}"
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
EMAIL=${EMAIL:-}

az group create --name {{job|name}} --location {{region|word}}

# An alarm before the money is gone.
if [ -n "$EMAIL" ]; then
  az consumption budget create --budget-name {{job|name}} --resource-group {{job|name}} --amount {{budget|word}} \
    --category cost --time-grain monthly --start-date "$(date +%Y-%m-01)" --end-date "$(date -d '+1 year' +%Y-%m-01)"
else
  echo "No alarm: EMAIL is not set." >&2
fi

# What the machine fetches when it starts.
for part in run.sh train.py requirements.txt serve_onnxruntime.py model.onnx model.gguf; do
  [ ! -e "$part" ] || az storage blob upload --account-name "$STORAGE_ACCOUNT" --auth-mode login -c job -f "$part" -n "$part" --overwrite
done
[ ! -e data ] || az storage blob upload-batch --account-name "$STORAGE_ACCOUNT" --auth-mode login -d job -s data --destination-path data --overwrite

startup=$(mktemp)
sed "s|@STORAGE_ACCOUNT@|$STORAGE_ACCOUNT|g{{#gated}};s|@HF_TOKEN@|$HF_TOKEN|g{{/gated}}" startup.sh >"$startup"

# The machines may write to the storage account, and give themselves back.
storage=$(az storage account show --name "$STORAGE_ACCOUNT" --query id --output tsv)
group=$(az group show --name {{job|name}} --query id --output tsv)
for number in $(seq 1 {{nodes|word}}); do
  az vm create --resource-group {{job|name}} --name {{job|name}}-"$number" --size {{instance|word}} --image {{azure_image|word}} \
    --assign-identity --role "Storage Blob Data Contributor" --scope "$storage" --os-disk-size-gb 200 --generate-ssh-keys --custom-data "$startup"{{#spot}} \
    --priority Spot --eviction-policy Delete --max-price -1{{/spot}}
  az role assignment create --role "Virtual Machine Contributor" --scope "$group" --assignee-principal-type ServicePrincipal \
    --assignee-object-id "$(az vm identity show --resource-group {{job|name}} --name {{job|name}}-"$number" --query principalId --output tsv)"
{{^serving}}
  # Whatever happens, it is given back every evening.
  az vm auto-shutdown --resource-group {{job|name}} --name {{job|name}}-"$number" --time "$(date -u -d '+{{run_hours|word}} hours' +%H%M)"
{{/serving}}
done
