// Draws the formulas of one token with its numbers filled in.
import { formulaNumber } from '../../../document/formulas/formula_text.ts'
import { type FilledFormula, tokenFormulas } from '../../../document/formulas/formulas.ts'
import type { TokenTable, TracedSample } from '../../../host/protocol/results.ts'
import { Token } from '../base/Token.tsx'
import type { StageIndex } from './SlowMotion.tsx'
import { Symbols } from './Symbols.tsx'
import { PART_STAGE } from './stages.ts'
import { tense } from './TokenGrid.tsx'

function FormulaPart({ formula, stage }: { formula: FilledFormula; stage: StageIndex }) {
  const { part, name, lines, note } = formula
  return (
    <div className={`formula ${tense(PART_STAGE[part], stage)}`} data-part={part}>
      <h4>{name}</h4>
      {lines.length === 0 ? <p className="soft">Not a part of this step for this token.</p> : null}
      {lines.map(({ result, symbol, symbols, numbers, value }) => (
        <p key={result}>
          <span>
            <var>
              <Symbols text={symbol} />
            </var>
            {' = '}
            <Symbols text={symbols} />
          </span>
          <span className="formula-numbers" title={`${value}`}>
            = {numbers}
            {numbers === formulaNumber(value) ? null : (
              <>
                {' = '}
                <b>{formulaNumber(value)}</b>
              </>
            )}
          </span>
        </p>
      ))}
      {note ? (
        <p className="soft">
          <span>
            <Symbols text={note} />
          </span>
        </p>
      ) : null}
    </div>
  )
}

interface FormulasProps {
  readonly table: TokenTable
  readonly sample: TracedSample
  /** The token's place in the response. */
  readonly t: number
  readonly stage: StageIndex
}

export function Formulas({ table, sample, t, stage }: FormulasProps) {
  return (
    <div
      className="formulas"
      data-testid="formulas"
      aria-label="Formulas of this token"
      role="group"
    >
      <h3>
        Token {t + 1}: <Token token={sample.tokens[t]} className="token-named" />
      </h3>
      {tokenFormulas({ table, sample, t }).map((formula) => (
        <FormulaPart key={formula.part} formula={formula} stage={stage} />
      ))}
    </div>
  )
}
