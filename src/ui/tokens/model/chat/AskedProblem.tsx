// Says what is wrong beside the field or the button that asked for it, and brings it into sight.
import { useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { type OpenedModelState, openedModelStore } from '../../../../page/opened/opened_model.ts'

type AskedBy = NonNullable<OpenedModelState['askedBy']>

interface AskedProblemProps {
  readonly by: readonly AskedBy[]
  /** What the page itself refuses. */
  readonly own?: string | undefined
}

/** What is asked is another one by now: what was wrong with the last is no longer said. */
export function forgetProblem(by: readonly AskedBy[]): void {
  const { askedBy, problem } = openedModelStore.getState()
  if (problem !== undefined && askedBy !== undefined && by.includes(askedBy))
    openedModelStore.setState({ problem: undefined })
}

export function AskedProblem({ by, own }: AskedProblemProps) {
  const said = useStore(openedModelStore, ({ askedBy, problem }) =>
    askedBy !== undefined && by.includes(askedBy) ? problem : undefined,
  )
  const problem = own ?? said
  const ref = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    if (problem !== undefined) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [problem])
  return problem === undefined ? null : (
    <p ref={ref} className="bad model-asked" role="alert" data-testid="model-problem">
      {problem}
    </p>
  )
}
