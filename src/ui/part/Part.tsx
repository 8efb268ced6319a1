// Draws a part of the page. One that throws says so in its own place: the other parts and the run
// in the worker continue.
import { TriangleAlert } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { copyReport, rememberError } from './report.ts'

interface PartProps {
  /** Begins the sentence about it: 'The settings'. */
  readonly name: string
  readonly children: ReactNode
}

interface PartState {
  /** What was thrown; undefined while all is well. */
  readonly thrown: { readonly error: unknown } | undefined
}

const words = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error)

/** Shown in place of a part that threw. */
export function BrokenPart(props: {
  readonly name: string
  readonly error: unknown
  readonly onRetry: () => void
}) {
  const { name, error, onRetry } = props
  return (
    <section className="card not-loaded" role="alert" data-testid="broken-part">
      <TriangleAlert className="icon" aria-hidden="true" />
      <p>
        {name} cannot be shown because of a mistake in this page. A run in progress continues, and
        nothing of it is lost. <span className="soft">{words(error)}</span>
      </p>
      <button type="button" data-testid="try-part-again" onClick={onRetry}>
        Try again
      </button>
      <button type="button" data-testid="copy-part-report" onClick={() => void copyReport()}>
        Copy report
      </button>
    </section>
  )
}

/** Shows its children, or where one of them threw while it was drawn, a sentence, *Try again* and
 * *Copy report*. */
export class Part extends Component<PartProps, PartState> {
  override state: PartState = { thrown: undefined }

  static getDerivedStateFromError(error: unknown): PartState {
    return { thrown: { error } }
  }

  override componentDidCatch(error: unknown) {
    rememberError(`${this.props.name}: ${words(error)}`)
  }

  override render() {
    const { thrown } = this.state
    if (!thrown) return this.props.children
    const again = () => this.setState({ thrown: undefined })
    return <BrokenPart name={this.props.name} error={thrown.error} onRetry={again} />
  }
}
