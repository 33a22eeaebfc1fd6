# fish completion for quartermaster-cli                    -*- shell-script -*-
# SPDX-License-Identifier: GPL-3.0-or-later

# Commands and options are what the program itself says of them, in its language.
function __quartermaster_cli_commands
    set --local name
    for line in (quartermaster-cli --help)
        if set --local head (string match --regex --groups-only '^  ([a-z]+) ' -- $line)
            set name $head
        else if test -n "$name"
            printf '%s\t%s\n' $name (string trim -- $line)
            set name
        end
    end
end

function __quartermaster_cli_options
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    set --query words[2]
    and quartermaster-cli $words[2] --help | string replace --filter --regex '^  (?:-\w, )?(--[a-z-]+)(?:=\S+)? +(.*)' '$1\t$2'
end

function __quartermaster_cli_after
    set --local words (commandline --tokenize --cut-at-cursor --current-process)
    set --query words[2]; and contains -- $words[2] $argv
end

set --local cli complete --command quartermaster-cli
$cli --condition __fish_use_subcommand --no-files --arguments '(__quartermaster_cli_commands)'
$cli --condition 'string match --quiet -- "-*" (commandline --current-token)' --arguments '(__quartermaster_cli_options)'
$cli --condition '__quartermaster_cli_after chart' --long-option kind --exclusive \
    --arguments 'memory sizing scaling serving latency cost-time accuracy buy-or-rent spot elastic stages decision-hours decision-money'
$cli --condition '__quartermaster_cli_after report' --long-option paper --exclusive --arguments 'a4 letter'
$cli --condition '__quartermaster_cli_after ledger; and test (count (commandline --tokenize --cut-at-cursor)) = 2' --no-files \
    --arguments 'list show compare import export note tag remove restore check calibration suggest'
$cli --condition '__quartermaster_cli_after catalog; and test (count (commandline --tokenize --cut-at-cursor)) = 2' --no-files \
    --arguments 'list show import update'
