// Marks in a response what a tool wrote, so that nobody takes it for
// the policy's.
import type { RolloutSample } from '../../host/protocol/results.ts'
import { shownText } from '../../host/protocol/token_text.ts'

/** What a mark means, in a title and for those who hear it. */
export const TOOL_WROTE = 'the tool wrote this'

/** The text of a response, its turns told apart where it has several. */
export function TurnText({ told }: { told: Pick<RolloutSample, 'response' | 'turns'> }) {
  const { response, turns } = told
  if (!turns?.some(({ role }) => role === 'tool'))
    return response === '' ? <>(nothing)</> : shownText(response)
  return turns.map(({ role, text }, i) =>
    role === 'tool' ? (
      // Turns have no other identity than their place.
      <span key={i} className="tool-text" title={TOOL_WROTE} data-testid="tool-text">
        <span className="visually-hidden">{TOOL_WROTE}: </span>
        <span translate="no">{shownText(text)}</span>
      </span>
    ) : (
      <span key={i} translate="no">
        {shownText(text)}
      </span>
    ),
  )
}
