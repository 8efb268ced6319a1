// Names the parts of a reward, or tools, in a line.

type Worded = { readonly id: string; readonly name?: unknown; readonly function?: unknown }

const wordsOf = (parts: readonly Worded[]): string =>
  parts
    .map(({ id, name, function: chosen }) =>
      id === 'program' ? `${name}${chosen ? `:${chosen}` : ''}` : id,
    )
    .join(' + ')

export const rewardWords = (parts: readonly Worded[]): string =>
  wordsOf(parts) || 'the task’s own score'

export const toolsWords = (tools: readonly Worded[]): string => wordsOf(tools) || 'none'
