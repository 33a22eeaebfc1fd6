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
  az consumption budget create-with-rg --budget-name {{job|name}} --resource-group {{job|name}} --amount {{budget|word}} \
    --category Cost --time-grain Monthly --time-period start-date="$(date +%Y-%m-01)" end-date="$(date -d '+1 year' +%Y-%m-01)" \
    --notifications '{"near": {"enabled": true, "operator": "GreaterThan", "threshold": 80, "contact-emails": ["'"$EMAIL"'"]}}'
else
  echo "No alarm: EMAIL is not set." >&2
fi

# What the machine fetches when it starts.
{{#training}}
! grep -q "Put your model, your data" train.py || { echo "Put your model into train.py before a machine is paid for." >&2; exit 1; }
[ -e data ] || { echo "Put your examples in the folder data, beside these files." >&2; exit 1; }
{{/training}}
{{#serves_onnx}}
[ -e model.onnx ] || { echo "model.onnx, your network, is missing beside these files." >&2; exit 1; }
{{/serves_onnx}}
{{#serves_llama_cpp}}
[ -e model.gguf ] || { echo "model.gguf, the weights, is missing beside these files." >&2; exit 1; }
{{/serves_llama_cpp}}
{{#serves_vllm}}
{{#own_weights}}
{{>own-weights}}
printf 'export MODEL=%q\n' "$MODEL" >model.sh
{{/own_weights}}
{{/serves_vllm}}
for part in model.sh run.sh train.py requirements.txt serve_onnxruntime.py model.onnx model.gguf; do
  [ ! -e "$part" ] || az storage blob upload --account-name "$STORAGE_ACCOUNT" --auth-mode login -c job -f "$part" -n "$part" --overwrite
done
[ ! -e data ] || az storage blob upload-batch --account-name "$STORAGE_ACCOUNT" --auth-mode login -d job -s data --destination-path data --overwrite

startup=$(mktemp)
sed "s|@STORAGE_ACCOUNT@|$STORAGE_ACCOUNT|g{{#gated}};s|@HF_TOKEN@|$HF_TOKEN|g{{/gated}}" startup-azure.sh >"$startup"

# The machines may write to the storage account, and give themselves back.
storage=$(az storage account show --name "$STORAGE_ACCOUNT" --query id --output tsv)
group=$(az group show --name {{job|name}} --query id --output tsv)
for number in $(seq 1 {{nodes|word}}); do
  az vm create --resource-group {{job|name}} --name {{job|name}}-"$number" --size {{instance|word}} --image {{azure_image|word}} \
    --assign-identity --role "Storage Blob Data Contributor" --scope "$storage" --os-disk-size-gb {{disk_gb|word}} --generate-ssh-keys --custom-data "$startup"{{#spot}} \
    --priority Spot --eviction-policy Delete --max-price -1{{/spot}}
  az role assignment create --role "Virtual Machine Contributor" --scope "$group" --assignee-principal-type ServicePrincipal \
    --assignee-object-id "$(az vm identity show --resource-group {{job|name}} --name {{job|name}}-"$number" --query principalId --output tsv)"
done
{{#serving}}
address=$(az vm show --resource-group {{job|name}} --name {{job|name}}-1 --show-details --query publicIps --output tsv)
echo "Ask it through a tunnel: ssh -L {{port|word}}:localhost:{{port|word}} $address"
{{/serving}}
