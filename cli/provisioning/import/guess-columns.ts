/** What PSA tools call their columns, without case, accents and punctuation, by where they go. */
const synonyms: Readonly<Record<string, string>> = {
  "organization.name":
    "companyname company accountname account client clientname customer customername businessname organization organisation organizationname organisationname org orgname tenant tenantname firma firmenname kunde kundenname unternehmen societe raisonsociale cliente nombrecliente empresa azienda bedrijf bedrijfsnaam klant",
  "organization.slug":
    "slug identifier companyidentifier shortname companyshortname clientshortname customershortname organizationshortname abbreviation companycode clientcode customercode accountcode kurzname kuerzel kurzel",
  "organization.type":
    "companytype accounttype clienttype customertype organizationtype organisationtype type typ kundentyp",
  "organization.status": "status companystatus accountstatus clientstatus customerstatus organizationstatus",
  "organization.maxDevices": "maxdevices devicelimit",
  "organization.contractStart": "contractstart contractstartdate vertragsbeginn debutcontrat",
  "organization.contractEnd": "contractend contractenddate vertragsende fincontrat",
  "organization.billingContact.name": "billingcontact billingcontactname invoicecontact rechnungskontakt",
  "organization.billingContact.email": "billingemail invoiceemail accountspayableemail rechnungsemail rechnungsmail",
  "organization.billingContact.phone": "billingphone rechnungstelefon",
  "site.name":
    "site sitename location locationname branch office officename standort niederlassung filiale sede vestiging",
  "site.timezone": "timezone zeitzone tz fuseauhoraire",
  "site.address.line1":
    "address address1 addressline1 street street1 streetaddress strasse adresse anschrift rue direccion indirizzo adres",
  "site.address.line2": "address2 addressline2 street2 adresszusatz",
  "site.address.city": "city town ort stadt ville ciudad citta plaats",
  "site.address.region": "state stateprovince province region county bundesland",
  "site.address.postalCode": "zip zipcode postalcode postcode plz postleitzahl codepostal codigopostal cap",
  "site.address.country": "country land pays pais paese",
  "site.contact.name": "sitecontact sitecontactname locationcontact locationcontactname standortkontakt",
  "site.contact.email": "siteemail sitecontactemail locationemail locationcontactemail",
  "site.contact.phone": "sitephone sitecontactphone locationphone locationcontactphone standorttelefon",
  "contact.name":
    "contact contactname fullname contactfullname primarycontact maincontact ansprechpartner kontakt kontaktperson contacto",
  "contact.email": "email emailaddress contactemail primaryemail mail mailadresse emailadresse courriel correo",
  "contact.phone":
    "phone phonenumber contactphone telephone telefon telefonnummer officephone directphone workphone businessphone telefono",
  "contact.mobile": "mobile mobilephone mobilenumber cell cellphone mobil mobiltelefon handy portable movil",
  "contact.title": "title jobtitle position funktion titel fonction cargo",
  "contact.roles": "role roles contactrole contacttype rolle rollen",
  "contact.isPrimary": "primary isprimary primaryflag defaultcontact hauptkontakt",
  "contact.notes": "notes note comments comment notiz notizen bemerkung bemerkungen anmerkung",
};

const firstNames = new Set("firstname contactfirstname givenname vorname prenom nombre nome voornaam".split(" "));
const lastNames = new Set(
  "lastname contactlastname surname familyname nachname nom nomdefamille apellido apellidos cognome achternaam".split(
    " ",
  ),
);

const byName: ReadonlyMap<string, string> = new Map(
  Object.entries(synonyms).flatMap(([target, names]) => names.split(" ").map((name) => [name, target] as const)),
);

/** `Straße (Firma)` → `strassefirma`. */
const plain = (header: string): string =>
  header
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]/gu, "");

const prefixed =
  /^(?:company|account|client|customer|organi[sz]ation|site|location|office|address)(?<ofCustomer>.+)|^contact(?<ofContact>.+)/;

/** `Company: City` and `address_city` name the city too; of the customer only what is not a person's. */
function targetNamed(name: string): string | undefined {
  const known = byName.get(name);
  if (known !== undefined) return known;
  const found = prefixed.exec(name)?.groups;
  const target = byName.get(found?.["ofCustomer"] ?? found?.["ofContact"] ?? "");
  return target?.startsWith("contact.") === (found?.["ofContact"] !== undefined) ? target : undefined;
}

/** What stands above a column in one tool or another. */
export const isHeading = (cell: string): boolean =>
  targetNamed(plain(cell)) !== undefined || firstNames.has(plain(cell)) || lastNames.has(plain(cell));

const saysSlug = new Set(["slug", "identifier", "companyidentifier"]);

export interface Taken {
  /** Columns that are spoken for. */
  readonly columns: ReadonlySet<string>;
  readonly targets: ReadonlySet<string>;
  /** Columns whose cells all say yes or no. */
  readonly yesOrNo: ReadonlySet<string>;
  /** Columns with a cell that is no slug: a short name may be any text. */
  readonly noSlugs: ReadonlySet<string>;
  /** A column that is called `Name` alone, in a list without people, holds the customers' names. */
  readonly mayBeCustomers: boolean;
}

/** Columns by target as far as their names say; what is `taken` is settled. The first of two wins. */
export function guessColumns(header: readonly string[], taken: Taken): Map<string, readonly string[]> {
  const guesses = new Map<string, readonly string[]>();
  const free = header.filter((column) => column !== "" && !taken.columns.has(column));
  const named = free.filter((column) => !taken.yesOrNo.has(column));
  const first = named.find((column) => firstNames.has(plain(column)));
  const last = named.find((column) => lastNames.has(plain(column)));
  if ((first ?? last) !== undefined && !taken.targets.has("contact.name")) {
    guesses.set(
      "contact.name",
      [first, last].filter((column) => column !== undefined),
    );
  }
  for (const column of free) {
    const name = plain(column);
    const target = taken.yesOrNo.has(column) ? flagNamed(name) : targetNamed(name);
    if (target === undefined || guesses.has(target) || taken.targets.has(target)) continue;
    if (target === "organization.slug" && !saysSlug.has(name) && taken.noSlugs.has(column)) continue;
    guesses.set(target, [column]);
  }
  const bare = named.find((column) => plain(column) === "name");
  const settled = ["organization.name", "contact.name", "contact.email"];
  if (bare !== undefined && taken.mayBeCustomers && !settled.some((one) => guesses.has(one) || taken.targets.has(one)))
    guesses.set("organization.name", [bare]);
  return guesses;
}

/** `Primary Contact` holds a name, or says of each contact whether it is the one: its cells tell. */
const flagNamed = (name: string): string | undefined =>
  name === "primarycontact" || byName.get(name) === "contact.isPrimary" ? "contact.isPrimary" : undefined;
