import { notifications } from "#contract/resources/people/notifications";
import { implement } from "#server/http/implement";
import { clearNotifications, removeNotification } from "./clear.ts";
import { countUnread, listNotifications } from "./list.ts";
import { readNotification } from "./read.ts";

export const routes = implement(notifications, {
  list: listNotifications,
  unreadCount: countUnread,
  read: readNotification,
  remove: removeNotification,
  clear: clearNotifications,
});
