// Loads parts of the page when they are first needed. One that cannot be loaded says so,
// and is asked for again.
import { CloudOff, RefreshCw } from 'lucide-react'
import {
  Component,
  type ComponentType,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useState,
} from 'react'
import type { LabState } from '../../page/state/store.ts'
import { selectIsBusy, useLab } from '../shown/run.ts'
import { reloadKept, wasReplaced } from './new_version.ts'

interface PartOptions {
  /** Begins the sentence about it: 'This tab'. */
  readonly name: string
  /** Shown while it is loaded. */
  readonly fallback: ReactNode
  readonly className?: string
}

/** Stands where a part will be; drawn, and so translated, when it is needed. */
export const Opening = () => <p className="soft">Opening …</p>

/** The file of a part did not come; a mistake inside the part is another error. */
class NotLoaded extends Error {
  override name = 'NotLoaded'
}

interface BoundaryProps {
  readonly children: ReactNode
  readonly instead: ReactNode
}

class Boundary extends Component<BoundaryProps, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    if (error instanceof NotLoaded) return this.props.instead
    throw error
  }
}

/** Loads stylesheets that did not come: the loader of a part asks for them only once. */
function loadStyles(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]'))
    if (!link.sheet) link.replaceWith(link.cloneNode())
}

const selectIsKept = ({ checkpoint_problem }: LabState) =>
  !checkpoint_problem || checkpoint_problem.code === 'corrupt'

/** What becomes of the run that is on when the page is loaded again; '' without one. */
export function useReloadWords(): string {
  const isBusy = useLab(selectIsBusy)
  const isKept = useLab(selectIsKept)
  if (!isBusy) return ''
  return isKept
    ? ' The page keeps the present run first, and the new page offers to continue it.'
    : ' This browser does not keep the run in progress: a reload ends it. Download a checkpoint first, or wait until it is finished.'
}

/** The server has a new version, and no longer this part of the old one. */
function Replaced({ name, className }: { readonly name: string; readonly className: string }) {
  const words = useReloadWords()
  return (
    <section className={`${className} not-loaded`} role="alert" data-testid="new-version">
      <RefreshCw className="icon" aria-hidden="true" />
      <p>
        {name} could not be loaded: a new version of this page was published since it was opened.
        {words}
      </p>
      <button type="button" data-testid="reload-page" onClick={() => void reloadKept()}>
        Load the new version
      </button>
    </section>
  )
}

function Missing(props: { readonly name: string; readonly className: string; onRetry(): void }) {
  const { name, className, onRetry } = props
  const [isReplaced, setIsReplaced] = useState(false)
  useEffect(() => {
    let isHere = true
    void wasReplaced().then((was) => {
      if (isHere) setIsReplaced(was)
    })
    return () => {
      isHere = false
    }
  }, [])
  useEffect(() => {
    addEventListener('online', onRetry)
    return () => removeEventListener('online', onRetry)
  }, [onRetry])
  if (isReplaced) return <Replaced name={name} className={className} />
  return (
    <section className={`${className} not-loaded`} role="alert" data-testid="not-loaded">
      <CloudOff className="icon" aria-hidden="true" />
      <p>
        {name} could not be loaded: check your connection. A run in progress continues without one.
      </p>
      <button type="button" data-testid="load-again" onClick={onRetry}>
        Try again
      </button>
    </section>
  )
}

/** A part that `load` brings. Where its file does not come, as without a connection, a sentence and
 * a button take its place: the run continues in its worker meanwhile. */
export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { name, fallback, className = 'card' }: PartOptions,
): (props: P) => ReactNode {
  const ask = () =>
    lazy(async () => {
      try {
        return { default: await load() }
      } catch (error) {
        throw new NotLoaded(error instanceof Error ? error.message : String(error))
      }
    })
  // All places that show the part share it.
  let present = ask()
  let tries = 0
  return function Part(props: P) {
    const [own, setOwn] = useState({ Content: present, tries })
    const again = () => {
      // Another place may have asked meanwhile.
      if (own.tries === tries) {
        loadStyles()
        present = ask()
        tries++
      }
      setOwn({ Content: present, tries })
    }
    const instead = <Missing name={name} className={className} onRetry={again} />
    return (
      <Boundary key={own.tries} instead={instead}>
        <Suspense fallback={fallback}>
          <own.Content {...props} />
        </Suspense>
      </Boundary>
    )
  }
}
