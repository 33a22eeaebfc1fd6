#compdef quartermaster-cli
# SPDX-License-Identifier: GPL-3.0-or-later

# Commands and options are what the program itself says of them, in its language.
_quartermaster_cli_commands() {
  local -a commands
  local line name=
  quartermaster-cli --help | while IFS= read -r line; do
    if [[ $line =~ '^  ([a-z]+) ' ]]; then
      name=$match[1]
    elif [[ -n $name ]]; then
      commands+=("$name:${line##[[:space:]]#}")
      name=
    fi
  done
  _describe -t commands command commands
}

_quartermaster_cli_options() {
  local -a options
  local line
  quartermaster-cli $words[2] --help | while IFS= read -r line; do
    [[ $line =~ '^  (-[a-z], )?(--[a-z-]+)(=[^ ]+)? +(.*)' ]] && options+=("$match[2]:$match[4]")
  done
  _describe -t options option options
}

_quartermaster_cli() {
  setopt local_options extended_glob
  local -a choices

  case $words[2]:$words[CURRENT-1] in
    chart:--kind) choices=(memory sizing scaling serving latency cost-time accuracy buy-or-rent spot elastic stages decision-hours decision-money) ;;
    report:--paper) choices=(a4 letter) ;;
    ledger:ledger) choices=(list show compare import export note tag remove restore check calibration suggest) ;;
    catalog:catalog) choices=(list show import update) ;;
  esac

  if (( CURRENT == 2 )); then
    _quartermaster_cli_commands
  elif (( $#choices )); then
    _describe -t values value choices
  elif [[ $words[CURRENT] == -* ]]; then
    _quartermaster_cli_options
  else
    _files
  fi
}

_quartermaster_cli "$@"
