# bash completion for quartermaster-cli                    -*- shell-script -*-
# SPDX-License-Identifier: GPL-3.0-or-later

# Files of the given endings, and folders on the way to them.
_quartermaster_cli_files()
{
  local ending
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(
    compgen -d -- "$cur"
    for ending in "$@"; do compgen -f -X "!*.$ending" -- "$cur"; done
  )
}

_quartermaster_cli_words()
{
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_quartermaster_cli_options()
{
  case $1 in
    detect) echo --json --capture --wake --help ;;
    watch) echo --json --seconds --interval --help ;;
    record) echo --json --label --plan --interval --timeout --ledger --help ;;
    ledger) echo --json --ledger --search --device --model --tag --sort --ascending --limit --help ;;
    estimate) echo --json --ledger --no-calibration --help ;;
    model | score | settings) echo --json --help ;;
    catalog) echo --json --provider --regions --as-of --help ;;
    recommend) echo --json --top --without --output --ledger --no-calibration --help ;;
    quantization) echo --json --tolerance --weight --layers --help ;;
    ask) echo --output --help ;;
    report) echo --output --paper --language --help ;;
    diagnose) echo --json --oom --ledger --help ;;
    export) echo --output --format --force --help ;;
    tune) echo --json --trials --grid --batch --workers --accumulation --limit --state --ledger --help ;;
    elastic) echo --json --load --target --fewest --most --warm-up --cool-down --help ;;
    chart) echo --output --kind --load --dark --width --height --help ;;
  esac
}

_quartermaster_cli()
{
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  COMPREPLY=()

  if [ "$COMP_CWORD" -eq 1 ]; then
    _quartermaster_cli_words "estimate recommend ask model detect catalog report chart diagnose export elastic tune quantization settings score ledger watch record --help --version"
    return
  fi

  case $command:$previous:$cur in
    ledger:ledger:-* | catalog:catalog:-*) _quartermaster_cli_words "$(_quartermaster_cli_options "$command")"; return ;;
  esac
  case $command:$previous in
    report:-o | report:--output) _quartermaster_cli_files pdf; return ;;
    chart:-o | chart:--output) _quartermaster_cli_files png svg pdf; return ;;
    ask:-o | ask:--output) _quartermaster_cli_files qmplan; return ;;
    report:--paper) _quartermaster_cli_words "a4 letter"; return ;;
    chart:--kind)
      _quartermaster_cli_words "memory sizing scaling serving latency cost-time accuracy buy-or-rent spot elastic stages decision-hours decision-money"
      return ;;
    diagnose:--oom | record:--plan) _quartermaster_cli_files qmplan; return ;;
    export:--format)
      _quartermaster_cli_words "gcloud aws azure dockerfile accelerate torchrun deepspeed slurm kubernetes keda kueue skypilot vllm llama-cpp triton onnxruntime openvino script csv json"
      return ;;
    elastic:--load | chart:--load) _quartermaster_cli_files csv; return ;;
    elastic:--target | elastic:--fewest | elastic:--most | elastic:--warm-up | elastic:--cool-down) return ;;
    quantization:--layers) _quartermaster_cli_files csv; return ;;
    quantization:--tolerance | quantization:--weight) return ;;
    tune:--state) _quartermaster_cli_files json; return ;;
    tune:--trials | tune:--batch | tune:--workers | tune:--accumulation | tune:--limit) return ;;
    *:--top | *:--width | *:--height | *:--language) return ;;
    ledger:ledger) _quartermaster_cli_words "list show compare import export note tag remove restore check calibration suggest"; return ;;
    ledger:--sort) _quartermaster_cli_words "added started label model device seconds throughput memory"; return ;;
    catalog:catalog) _quartermaster_cli_words "list show import update"; return ;;
  esac

  case $command:$cur in
    *:-*) _quartermaster_cli_words "$(_quartermaster_cli_options "$command")" ;;
    estimate:* | quantization:* | recommend:* | report:* | chart:* | export:*) _quartermaster_cli_files qmplan ;;
    model:*) _quartermaster_cli_files json safetensors gguf ;;
    score:*) _quartermaster_cli_files jsonl ;;
    diagnose:*) _quartermaster_cli_files csv json jsonl gz ;;
    ledger:*) _quartermaster_cli_files csv json jsonl gz ;;
  esac
}

complete -F _quartermaster_cli quartermaster-cli
