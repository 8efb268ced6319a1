// Lists the charts of tools: how often they are called, and how often a person's own did not
// answer.
import { line, type MoreChart, range } from './chart_entry.ts'

export const TOOL_CHARTS: readonly MoreChart[] = [
  {
    id: 'tool-calls',
    title: 'Calls of tools',
    note: 'per response, of those that reached a tool',
    lines: [line('tool_calls/mean', 'calls')],
  },
  {
    id: 'tool-problems',
    title: 'Calls not answered',
    note: 'calls of a program of one’s own that took too long, or failed; the model reads why',
    lines: [line('tool_calls/timeouts', 'too long'), line('tool_calls/errors', 'failed', 1)],
  },
  {
    id: 'num-turns',
    title: 'Turns',
    note: 'as verl counts them: the prompt, each time the policy writes and each answer of tools',
    lines: range('num_turns'),
  },
]
