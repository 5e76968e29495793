import type { Area } from "#contract/areas";
import { camel } from "../gen/tree.ts";

export interface NewNoun {
  readonly area: Area;
  /** Kebab-case, plural. */
  readonly noun: string;
  readonly summary: string;
  /** Resource whose `:read` and `:write` permissions it asks for, such as `devices`. */
  readonly permission: string;
  /** `YYYYMMDDHHMM` of the migration. */
  readonly stamp: string;
}

/** Every spelling of a noun that files and code use. */
export interface NounNames {
  /** `device-tags` */
  readonly noun: string;
  /** `deviceTags` */
  readonly key: string;
  /** `device-tag`: one of them. */
  readonly thing: string;
  /** `deviceTag` */
  readonly one: string;
  /** `DeviceTag` */
  readonly shape: string;
  /** `DeviceTags` */
  readonly plural: string;
  /** `device_tag`: first word of its audit actions. */
  readonly prefix: string;
  /** `device_tags` */
  readonly table: string;
  /** `device tag` */
  readonly words: string;
  /** `a device tag`, `an alert` */
  readonly aThing: string;
  /** `device tags` */
  readonly many: string;
}

export function namesOf(noun: string): NounNames {
  const thing = noun.endsWith("ies") ? `${noun.slice(0, -3)}y` : noun.replace(/s$/, "");
  const one = camel(thing);
  const key = camel(noun);
  return {
    noun,
    key,
    thing,
    one,
    shape: pascal(one),
    plural: pascal(key),
    prefix: thing.replaceAll("-", "_"),
    table: noun.replaceAll("-", "_"),
    words: thing.replaceAll("-", " "),
    aThing: `${/^[aeiou]/.test(thing) ? "an" : "a"} ${thing.replaceAll("-", " ")}`,
    many: noun.replaceAll("-", " "),
  };
}

export const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
export const kebabOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
