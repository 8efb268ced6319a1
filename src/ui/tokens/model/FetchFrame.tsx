// The frame that asks before anything is fetched (public/fetch.html). It is there for as long as what it was allowed may be needed.
import { useEffect, useRef } from 'react'
import type { ModelAddress } from '../../../lab/content/models/model_address.ts'

interface FetchFrameProps {
  readonly address: ModelAddress
  /** Takes the port through which the frame fetches, once the person has agreed. */
  readonly onPort: (port: MessagePort) => void
}

export function FetchFrame({ address, onPort }: FetchFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const own = useRef({ address, onPort })
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const onLoad = () => {
      const { address: asked, onPort: take } = own.current
      const { port1, port2 } = new MessageChannel()
      const { origins, name } = asked
      element.contentWindow?.postMessage({ origins, name }, '*', [port2])
      take(port1)
    }
    element.addEventListener('load', onLoad, { once: true })
    // Set here, so that it cannot have loaded before somebody listens.
    element.src = new URL('fetch.html', document.baseURI).href
    return () => element.removeEventListener('load', onLoad)
  }, [])
  return (
    <iframe
      ref={frame}
      className="model-fetch-frame"
      data-testid="model-fetch-frame"
      title="May the page fetch this model?"
      sandbox="allow-scripts"
    />
  )
}
