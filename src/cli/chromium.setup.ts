// Lets the GPU tests share a device in Chromium, too, as those in Node do (dawn.setup.ts).
import { shareDevices } from '../kernels/device/testing.ts'

shareDevices()
