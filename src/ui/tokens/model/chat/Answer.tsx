// Shows what a model was asked and what it wrote. Every token shows its entropy, and a press on one
// asks every layer about it.

import { useMemo } from 'react'
import type {
  ChatTurn,
  OpenedModelFacts,
  WrittenPart,
} from '../../../../host/protocol/opened_model.ts'
import { tokenSign, tokenWords } from '../../../../host/protocol/token_text.ts'
import { lookBack, type Written } from '../../../../page/opened/opened_model.ts'
import { formatNats, formatNumber, formatShare } from '../../../kit/format.ts'
import { ScoreSign } from '../../../kit/ScoreSign.tsx'
import { shadeOf } from '../../../scales/shades.ts'
import { type Foreign, type Judged, type Judging, judgedByOne } from './judged.ts'

interface PartsProps {
  readonly parts: readonly WrittenPart[]
  readonly maxEntropy: number
  readonly isDone: boolean
}

/** The tokens of the answer: bright where the model was certain. */
function Parts({ parts, maxEntropy, isDone }: PartsProps) {
  return (
    <p className="chat-parts" data-testid="chat-parts">
      {parts.map(({ token, prob, entropy }, i) => {
        const shade = shadeOf(entropy / maxEntropy)
        const title = `${formatShare(prob)}, entropy ${formatNats(entropy)}`
        return (
          <button
            // Tokens have no other identity than their place.
            key={i}
            type="button"
            className={`response ${shade === undefined ? '' : `seq-${shade}`}`}
            title={title}
            aria-label={`${tokenWords(token)}, ${title}`}
            data-entropy={entropy}
            aria-disabled={!isDone}
            onClick={isDone ? () => lookBack(i) : undefined}
          >
            {tokenSign(token)}
          </button>
        )
      })}
    </p>
  )
}

const ROLES = { system: 'System', user: 'You', assistant: 'Model' } as const

function Turns({ turns }: { turns: readonly ChatTurn[] }) {
  return turns.map(({ role, content }, i) => (
    // Turns have no other identity than their place.
    <p key={i} className={`chat-turn chat-${role}`}>
      <b>{ROLES[role]}</b> {content}
    </p>
  ))
}

/** What the task says by its own score. */
function scoreWords({ score, checks }: Judged): string {
  if (score === 1) return checks === undefined ? 'right' : `full score. What is checked: ${checks}`
  return score === 0 ? 'wrong' : `partly right, score ${formatNumber(score)}`
}

/** Whether a text has what its run was rewarded for; its task's own score says another thing. */
function AskedVerdict({ label, score, checks, own }: Asked) {
  return (
    <p className="chat-verdict" data-testid="chat-verdict">
      <ScoreSign score={score} />{' '}
      <span>
        {label}: {score === 1 ? 'yes' : score === 0 ? 'no' : formatNumber(score)}
      </span>
      <span className="soft">
        {' '}
        The task’s own score is {formatNumber(own)}
        {checks === undefined ? '' : `: ${checks}`}
      </span>
    </p>
  )
}

interface Asked {
  readonly label: string
  readonly score: number
  readonly checks: string | undefined
  readonly own: number
}

/** What is said of an answer to a problem: by the reward that was trained, else by the task. */
function Verdict({ of }: { readonly of: Judged | Foreign }) {
  if ('example' in of)
    return (
      <p className="chat-verdict soft" data-testid="chat-verdict">
        Not judged: the model learned other problems, such as <code>{of.example}</code>
      </p>
    )
  const { score, right, checks, asked } = of
  if (asked) return <AskedVerdict {...asked} checks={checks} own={score} />
  return (
    <p className="chat-verdict" data-testid="chat-verdict">
      <ScoreSign score={score} /> <span>{scoreWords(of)}</span>
      {score === 1 || right === undefined ? null : (
        <span className="soft">
          {' '}
          The right answer is <code>{right}</code>
        </span>
      )}
    </p>
  )
}

interface AnswerProps {
  readonly written: Written
  readonly facts: OpenedModelFacts
  /** What the model learned to do. */
  readonly tasks: readonly Judging[]
}

/** What was asked, and what the model wrote so far: a continued text is one text with what it
 * continues. */
export function Answer({ written, facts, tasks }: AnswerProps) {
  const { asked, text, parts, is_done, is_cut } = written
  const verdict = useMemo(() => {
    const prompt = 'messages' in asked ? asked.messages.at(-1)?.content : asked.text
    if (!is_done || typeof prompt !== 'string') return undefined
    return judgedByOne(tasks, prompt, text)
  }, [tasks, asked, text, is_done])
  return (
    <>
      {'messages' in asked ? <Turns turns={asked.messages} /> : null}
      <p className="chat-turn chat-assistant" data-testid="chat-answer" aria-live="polite">
        {'messages' in asked ? (
          <>
            <b>{ROLES.assistant}</b>{' '}
          </>
        ) : (
          <span className="chat-prompt" data-testid="chat-prompt">
            {asked.text}
          </span>
        )}
        {text}
      </p>
      {verdict ? <Verdict of={verdict} /> : null}
      <Parts parts={parts} maxEntropy={Math.log(facts.vocab_size)} isDone={is_done} />
      {is_cut ? (
        <p className="soft" data-testid="chat-cut">
          It stopped at the limit of {parts.length} tokens, not by itself: with more “tokens at
          most” it goes on.
        </p>
      ) : null}
      {parts.length > 0 ? (
        <small className="soft">
          Bright is certain, dark undecided. Press a token to see what every layer said there.
        </small>
      ) : null}
    </>
  )
}
