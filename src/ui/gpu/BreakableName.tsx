// Shows a name that may break at its underscores.
import { Fragment } from 'react'

/** A name that a narrow column breaks at its underscores. */
export const BreakableName = ({ name }: { name: string }) =>
  name.split('_').map((part, i) => (
    <Fragment key={i}>
      {i > 0 ? '_' : ''}
      {i > 0 ? <wbr /> : null}
      {part}
    </Fragment>
  ))
