// Shows keys as caps.
import { IS_MAC, keyCaps } from '../../../kit/input/keys.ts'

/** Keys as caps. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className="key-caps">
      {keyCaps(keys, IS_MAC).map((press, i) => (
        <span key={press.join('+')}>
          {i > 0 ? <span className="soft"> then </span> : null}
          {press.map((cap) => (
            <kbd key={cap}>{cap}</kbd>
          ))}
        </span>
      ))}
    </span>
  )
}
