// Responses token by token.
import { Stages } from '../panels/Stages.tsx'

export default function Tokens() {
  return <Stages />
}
