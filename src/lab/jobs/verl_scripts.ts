// The scripts that start verl or BuPO's fork: one array with an argument on each line, which can be read, changed and printed.
import { hydraValue, shellQuoted } from './shell.ts'
import type { JobPath, VerlCommand, VerlValue } from './verl_arguments.ts'

const isPath = (value: VerlValue): value is JobPath =>
  typeof value === 'object' && value !== null && 'in_job' in value

/** A line of the array: what the shell passes on as one argument. */
const argumentLine = (key: string, value: VerlValue): string =>
  isPath(value) ? `"${key}=\\"$JOB/${value.in_job}\\""` : shellQuoted(`${key}=${hydraValue(value)}`)

/** A script that starts the job. `about`: what it needs, a line of text each. */
export function startScript(command: VerlCommand, about: readonly string[]): string {
  const lines = [...command.arguments].map(([key, value]) => `  ${argumentLine(key, value)}`)
  return `#!/usr/bin/env bash
${about.map((line) => `# ${line}`).join('\n')}
# Further arguments are passed on, and the last one of a name counts: bash run_verl.sh trainer.total_training_steps=2
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
exec python3 -m verl.trainer.main_ppo "\${ARGUMENTS[@]}" "$@"
`
}
