import type { SchemaChange } from "../schema-change.ts";

/**
 * Titles of software that no device has any more are forgotten (`dialect/software-titles.ts`). Whoever writes software looks
 * first whether its title is known, so what goes is decided while nobody writes any; what has to wait for long gives up.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : []),
};

const postgres = [
  `create function public.rmm_forget_titles(after text, most int) returns text language plpgsql security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '1s' as $$
declare
  looked text[] := array(select title from rmm_private.software_titles where title > after order by title limit most);
  unused text[] := array(select title from unnest(looked) as one(title)
    where not exists (select 1 from public.device_software s where s.name = one.title));
begin
  if cardinality(unused) > 0 then
    lock table public.device_software in share row exclusive mode;
    delete from rmm_private.software_titles t where t.title = any(unused)
      and not exists (select 1 from public.device_software s where s.name = t.title);
  end if;
  return looked[cardinality(looked)];
end $$`,
  "revoke all on function public.rmm_forget_titles(text, int) from public",
  "grant execute on function public.rmm_forget_titles(text, int) to rmm_system",
];
