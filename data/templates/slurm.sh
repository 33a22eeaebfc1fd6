#!/bin/bash
{{>head}}
# Stop it: scancel JOB
#SBATCH --job-name={{job|name}}
#SBATCH --nodes={{nodes|word}}
#SBATCH --ntasks-per-node=1
{{#gpu}}
{{#slice}}
#SBATCH --gres=gpu:{{slice|word}}:{{per_node|word}}
{{/slice}}
{{^slice}}
#SBATCH --gpus-per-node={{per_node|word}}
{{/slice}}
{{/gpu}}
#SBATCH --cpus-per-task={{cpus|word}}
# What the processes, their loaders{{#offload_optimizer}}, what is offloaded{{/offload_optimizer}} and the loading of weights take on one machine.
#SBATCH --mem={{memory_gib|word}}G
{{^serving}}
#SBATCH --time={{run_hours|word}}:00:00
{{/serving}}
{{#training}}
# Five minutes before the end the processes are told, and save{{#trains_network}}: torchrun leaves them half a minute for it, and what takes longer
# goes on from the checkpoint before{{/trains_network}}.
#SBATCH --signal=TERM@300
{{/training}}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -euo pipefail
# srun does not take over by itself how many processors the job has asked for (from Slurm 22.05 on).
export SRUN_CPUS_PER_TASK="${SLURM_CPUS_PER_TASK:-{{cpus|word}}}"
{{#gated}}
: "${HF_TOKEN:?the weights are gated: accept the licence on the hub, then make a token}"
{{/gated}}
{{#training}}
# Before the first time, where there is a network: python3 -m venv env && env/bin/pip install -r requirements.txt
# shellcheck source=/dev/null
[ ! -f env/bin/activate ] || . env/bin/activate
{{#linked}}
# Where machines have several networks: export NCCL_SOCKET_IFNAME with the name of the interface that links them.
{{/linked}}
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR
{{#trees}}
srun python3 train.py --data "${DATA:-data}" --checkpoint-minutes {{checkpoint_minutes|word}}
{{/trees}}
{{^trees}}
srun torchrun --nnodes={{nodes|word}} --nproc-per-node={{per_node|word}} --rdzv-backend=c10d \
  --rdzv-endpoint="$MASTER_ADDR:29500" --rdzv-id="$SLURM_JOB_ID" train.py --data "${DATA:-data}" \
  --batch {{micro_batch|word}} --accumulation {{accumulation|word}} --epochs {{epochs|word}} --checkpoint-minutes {{checkpoint_minutes|word}}
{{/trees}}
{{/training}}
{{#serves_vllm}}
{{>own-weights}}
srun vllm serve {{>vllm-model}} --port {{port|word}} {{>vllm-options}}{{>vllm-copies}}
{{/serves_vllm}}
{{#serves_llama_cpp}}
{{#copies_apart}}
MODEL=${MODEL:-model.gguf}
set -- --host 0.0.0.0
{{>llama-copies}}
{{/copies_apart}}
{{^copies_apart}}
srun llama-server --model "${MODEL:-model.gguf}" --host 0.0.0.0 {{>llama-options}}
{{/copies_apart}}
{{/serves_llama_cpp}}
{{#serves_onnx}}
srun python serve_onnxruntime.py model.onnx
{{/serves_onnx}}
