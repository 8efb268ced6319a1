// Opens the frame that asks before anything is fetched (public/fetch.html). It is there for as long
// as what it was allowed may be needed.
import { useEffect, useRef, useState } from 'react'
import type { ModelAddress } from '../../../host/content/models/model_address.ts'

interface FetchFrameProps {
  readonly address: ModelAddress
  /** Takes the port through which the frame fetches, once the person has agreed. */
  readonly onPort: (port: MessagePort) => void
}

/** Pixels until the frame has said how tall its question is, and at most. */
const HEIGHT = { first: 96, most: 480 }

/** What the frame says of itself; undefined for any other message. */
function heightIn(data: unknown): number | undefined {
  const said =
    typeof data === 'object' && data !== null && 'fetch_frame_height' in data
      ? data.fetch_frame_height
      : undefined
  return typeof said === 'number' && Number.isFinite(said)
    ? Math.min(HEIGHT.most, Math.max(HEIGHT.first, said))
    : undefined
}

export function FetchFrame({ address, onPort }: FetchFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, setHeight] = useState(HEIGHT.first)
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
    const onMessage = ({ source, data }: MessageEvent) => {
      const said = source === element.contentWindow ? heightIn(data) : undefined
      if (said !== undefined) setHeight(said)
    }
    addEventListener('message', onMessage)
    element.addEventListener('load', onLoad, { once: true })
    // Set here, so that it cannot have loaded before somebody listens.
    element.src = new URL('fetch.html', document.baseURI).href
    return () => {
      removeEventListener('message', onMessage)
      element.removeEventListener('load', onLoad)
    }
  }, [])
  return (
    <iframe
      ref={frame}
      className="model-fetch-frame"
      height={height}
      data-testid="model-fetch-frame"
      title="May the page fetch this model?"
      sandbox="allow-scripts"
    />
  )
}
