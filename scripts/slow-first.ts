import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What starts processes and sweeps the contract comes first, so that no long file is left for one process at the end
 * while the other has nothing to do. Without durations of an earlier run vitest goes by size, and these files are short.
 */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a.moduleId) - rank(b.moduleId));
  }
}

const SLOW = [/\/server\/test\/meta\//, /\/server\/test\//, /./];
const rank = (file: string) => SLOW.findIndex((folder) => folder.test(file));
