// lab completion bash|zsh|fish: prints a script that completes commands and options in a shell.
import { type Command, UsageError } from './base/command.ts'
import { commandLine, type OptionSpec } from './base/declare.ts'
import { print } from './base/terminal.ts'
import { readArguments } from './options/read.ts'

type Commands = Readonly<Record<string, Command>>

const optionsOf = ({ line }: Command): [string, OptionSpec][] =>
  Object.values(line.groups).flatMap((group) => Object.entries(group))

const words = (command: Command) => optionsOf(command).map(([name]) => `--${name}`)

/** A text inside single quotes of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The runner has no program `lab`, so each script declares it as a function first. */
const FUNCTION = 'lab() { npm run -s lab -- "$@"; }'

function bash(commands: Commands): string {
  const cases = Object.entries(commands).map(
    ([name, command]) => `    ${name}) words=${quoted([...words(command), '--help'].join(' '))} ;;`,
  )
  return `${FUNCTION}
_lab() {
  local words word=\${COMP_WORDS[COMP_CWORD]}
  case $COMP_CWORD:\${COMP_WORDS[1]} in 1:*) words=${quoted(Object.keys(commands).join(' '))} ;; *)
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _lab lab`
}

/** zsh reads bash's completions. */
const zsh = (commands: Commands): string =>
  `autoload -Uz compinit bashcompinit && compinit && bashcompinit\n${bash(commands)}`

function fish(commands: Commands): string {
  const lines = Object.entries(commands).flatMap(([name, command]) => [
    `complete -c lab -n __fish_use_subcommand -a ${name} -d ${quoted(command.line.summary)}`,
    ...optionsOf(command).map(
      ([option, { kind, help }]) =>
        `complete -c lab -n '__fish_seen_subcommand_from ${name}' -l ${option}${
          kind === 'flag' ? '' : ' -r'
        } -d ${quoted(help)}`,
    ),
  ])
  return ['function lab; npm run -s lab -- $argv; end', ...lines].join('\n')
}

const SHELLS: Readonly<Record<string, (commands: Commands) => string>> = { bash, zsh, fish }

/** The command, for those that it completes. */
export function completionOf(others: Commands): Command {
  const line = commandLine({
    name: 'completion',
    takes: '<shell>',
    summary: 'a script that completes commands and options in bash, zsh or fish',
    notes: ['It declares lab as a function that runs npm run -s lab --, and completes its words.'],
    groups: {},
    examples: ['completion bash > ~/.lab_completion', 'completion fish'],
  })
  const completion: Command = {
    line,
    run: async (args) => {
      const { positionals } = readArguments(line, args)
      const [shell] = positionals
      if (positionals.length !== 1 || !Object.hasOwn(SHELLS, shell))
        throw new UsageError(
          `completion: expected one of ${Object.keys(SHELLS).join(', ')}, got ${positionals.join(' ') || 'nothing'}`,
        )
      print(SHELLS[shell]({ ...others, completion }))
      return 0
    },
  }
  return completion
}
