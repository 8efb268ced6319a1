// Says why a text was not read or continued, under the field that it stands in.
import { useStore } from 'zustand'
import { openedModelStore } from '../../../../page/opened/opened_model.ts'

export function AskedProblem() {
  const problem = useStore(openedModelStore, ({ askedBy, problem }) =>
    askedBy === undefined ? undefined : problem,
  )
  return problem === undefined ? null : (
    <p className="bad model-asked" role="alert" data-testid="model-problem">
      {problem}
    </p>
  )
}
