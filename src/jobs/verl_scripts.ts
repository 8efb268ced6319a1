// Writes the scripts that start verl or BuPO's fork: one array with an argument on each line, which
// can be read, changed and printed.

import type { JobPath, VerlValue, VerlVersion } from './settings/setting.ts'
import { hydraValue, shellQuoted } from './settings/shell.ts'
import type { VerlCommand } from './verl_arguments.ts'

/** The release of verl that a job installs, and the image that has what it needs. */
export const VERL_PINS: Readonly<
  Record<VerlVersion, { readonly release: string; readonly image: string }>
> = {
  '0.9': { release: '0.9.1', image: 'verlai/verl:vllm024.latest' },
  '0.7': { release: '0.7.1', image: 'verlai/verl:vllm017.latest' },
}

const isPath = (value: VerlValue): value is JobPath =>
  typeof value === 'object' && value !== null && 'in_job' in value

/** A line of the array: what the shell passes on as one argument. */
const argumentLine = (key: string, value: VerlValue): string =>
  isPath(value) ? `"${key}=\\"$JOB/${value.in_job}\\""` : shellQuoted(`${key}=${hydraValue(value)}`)

/** The fork imports its own models by their bare names, from a folder that its source names by a
 * placeholder. */
const FORK_MODELS = `if [ ! -d verl/models/custom_model ]; then
  echo "Start this in a checkout of github.com/Trae1ounG/BuPO: there is no verl/models/custom_model in $PWD" >&2
  exit 1
fi
export PYTHONPATH="$PWD/verl/models/custom_model:$PWD\${PYTHONPATH:+:$PYTHONPATH}"
`

/** A script that starts the job. `about`: what it needs, a line of text each; `isFork`: it starts
 * in a checkout of the fork. */
export function startScript(
  command: VerlCommand,
  about: readonly string[],
  isFork = false,
): string {
  const lines = [...command.arguments].map(([key, value]) => `  ${argumentLine(key, value)}`)
  return `#!/usr/bin/env bash
${about.map((line) => `# ${line}`).join('\n')}
# Further arguments are passed on, and the last one of a name counts: bash ${isFork ? 'run_bupo.sh' : 'run_verl.sh'} trainer.total_training_steps=2
# With --print the arguments are printed, one on each line, and nothing is started.
set -euo pipefail
JOB=\${JOB:-$(cd -- "$(dirname -- "\${BASH_SOURCE[0]}")" && pwd)}
case $JOB in
  *[\\"\\\\\\$]*)
    echo "The path of this folder holds a quote, a backslash or a dollar sign, which verl's command line does not take: $JOB" >&2
    exit 1
    ;;
esac
ARGUMENTS=(
${lines.join('\n')}
)
if [ "\${1-}" = --print ]; then
  printf '%s\\n' "\${ARGUMENTS[@]}"
  exit
fi
${isFork ? FORK_MODELS : ''}exec python3 -m verl.trainer.main_ppo "\${ARGUMENTS[@]}" "$@"
`
}
