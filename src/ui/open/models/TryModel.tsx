// Opens a model that comes with the page, to write with it.
import { type ReactNode, useState } from 'react'
import type { ShippedModel } from '../../../host/content/models/shipped.ts'
import { openShipped } from '../../../page/opened/shipped_files.ts'
import { showDialog } from '../dialogs.ts'

interface TryModelProps {
  readonly model: ShippedModel
  readonly testid: string
  readonly children: ReactNode
}

export function TryModel({ model, testid, children }: TryModelProps) {
  const [problem, setProblem] = useState<string>()
  const open = async () => {
    try {
      await openShipped(model)
      showDialog('model')
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <p>
      <button type="button" data-testid={testid} onClick={() => void open()}>
        {children}
      </button>
      {problem === undefined ? null : (
        <span className="bad" role="alert">
          {problem}
        </span>
      )}
    </p>
  )
}
